# What base R and rms say of a risk: Rscript against_r.R FOLDER reads FOLDER/*.csv (columns p, y) and writes FOLDER/*.values (key,value).
# Called by against_r.py. R is a tool here and no dependency.
suppressMessages(library(rms))

FOLDER <- commandArgs(trailingOnly = TRUE)[1]
THRESHOLDS <- c(0.05, 0.1, 0.2, 0.5, 0.8)
AT <- c(0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
HARRELL <- list(c(0.1, 0.5, 0.9), c(0.05, 0.35, 0.65, 0.95), c(0.05, 0.275, 0.5, 0.725, 0.95))
EXACT <- glm.control(epsilon = 1e-14, maxit = 100)

# Standard errors of a logistic fit that hold when it is not the truth, with n / (n - 1).
robust <- function(fit) {
  X <- model.matrix(fit)
  r <- fit$y - fitted(fit)
  bread <- solve(crossprod(X, X * (fitted(fit) * (1 - fitted(fit)))))
  sqrt(diag(bread %*% crossprod(X * r) %*% bread) * nrow(X) / (nrow(X) - 1))
}

likelihood <- function(p, y) mean(ifelse(y == 1, log(p), log1p(-p)))

of_models <- function(p, y) {
  l <- qlogis(p)
  joint <- glm(y ~ l, family = binomial, control = EXACT)
  large <- glm(y ~ 1, offset = l, family = binomial, control = EXACT)
  value <- c(coef(joint), coef(large))
  low <- value - qnorm(0.975) * c(robust(joint), robust(large))
  name <- c("joint_intercept", "slope", "offset_intercept")
  setNames(c(value, low), c(name, paste0(name, "_low")))
}

of_counts <- function(p, y) {
  n <- length(y)
  half <- qnorm(0.975) * sqrt((1 - sum(y) / n) / sum(y))
  limits <- if (sum(y) < 10) poisson.test(sum(y), sum(p))$conf.int else sum(y) / sum(p) * exp(c(-half, half))
  out <- c(oe = sum(y) / sum(p), oe_low = limits[1], oe_high = limits[2], brier = mean((p - y)^2), d2_brier = 1 - sum((p - y)^2) / sum((mean(y) - y)^2), log_loss = -likelihood(p, y),
    d2_log_loss = 1 - likelihood(p, y) / likelihood(rep(mean(y), n), y))
  for (t in THRESHOLDS) {
    model <- sum(p >= t & y == 1) / n - sum(p >= t & y == 0) / n * t / (1 - t)
    all <- mean(y) - (1 - mean(y)) * t / (1 - t)
    out[sprintf("net_benefit_%g", t)] <- model
    out[sprintf("net_benefit_all_%g", t)] <- all
    out[sprintf("standardised_net_benefit_%g", t)] <- model / mean(y)
  }
  out
}

gaps <- function(name, curve, p) {
  gap <- abs(curve - p)
  setNames(c(mean(gap), median(gap), quantile(gap, 0.9), max(gap)), paste0(c("ici_", "e50_", "e90_", "emax_"), name))
}

of_loess <- function(p, y, at) {
  direct <- loess(y ~ p, surface = "direct")
  out <- c(gaps("direct", predict(direct, p), p), gaps("default", fitted(loess(y ~ p)), p))
  out[sprintf("loess_%d", seq_along(at))] <- predict(direct, at)
  out
}

of_spline <- function(p, y, at) {
  out <- c()
  for (k in 3:5) {
    d <- data.frame(y = y, l = qlogis(p))
    # rms moves its knots away from runs of ties; ours are the quantiles.
    tied <- length(unique(d$l)) < 0.9 * nrow(d)
    knots <- if (tied) unique(unname(quantile(d$l, HARRELL[[k - 2]]))) else rcspline.eval(d$l, nk = k, knots.only = TRUE)
    if (length(knots) < 3) next
    fit <- glm(y ~ rcs(l, knots), family = binomial, data = d, control = EXACT)
    found <- predict(fit, data.frame(l = qlogis(at)), se.fit = TRUE)
    out[sprintf("spline%d_knot_%d", k, seq_along(knots))] <- knots
    out[sprintf("spline%d_%d", k, seq_along(at))] <- plogis(found$fit)
    out[sprintf("spline%d_low_%d", k, seq_along(at))] <- plogis(found$fit - qnorm(0.975) * found$se.fit)
    if (k == 5) out <- c(out, gaps("spline", fitted(fit), p))
  }
  out
}

of_rms <- function(p, y) {
  found <- val.prob(p, y, pl = FALSE)
  c(rms_slope = unname(found["Slope"]), rms_joint_intercept = unname(found["Intercept"]), rms_brier = unname(found["Brier"]),
    rms_spiegelhalter = unname(found["S:z"]), rms_lowess_ici = unname(found["Eavg"]))
}

for (file in list.files(FOLDER, "[.]csv$", full.names = TRUE)) {
  d <- read.csv(file)
  at <- sort(unique(quantile(d$p, AT, type = 1)))
  out <- setNames(at, sprintf("at_%d", seq_along(at)))
  for (part in list(of_counts, of_models, function(p, y) of_loess(p, y, at), function(p, y) of_spline(p, y, at), of_rms)) {
    out <- c(out, tryCatch(part(d$p, d$y), error = function(e) { message(file, ": ", conditionMessage(e)); c() }))
  }
  writeLines(sprintf("%s,%.17g", names(out), out), sub("[.]csv$", ".values", file))
}
writeLines(c(R.version.string, paste("rms", packageVersion("rms"))), file.path(FOLDER, "versions"))
