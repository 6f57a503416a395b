"""The paper's small convolutional network (Adam, batches of 64), its probabilities and its last
hidden layer. Needs torch.
"""

import numpy as np

BATCH, RATE, HIDDEN = 64, 1e-3, 128


def outputs(data, epochs):
    """(probabilities of validation and test, {part: hidden layer (n, 128) float32})."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    height, width, channels = (*data.shape, 1)[:3]
    flat = 64 * (height // 4) * (width // 4)
    body = nn.Sequential(
        nn.Conv2d(channels, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(flat, HIDDEN),
        nn.ReLU(),
    )
    model = nn.Sequential(body, nn.Dropout(0.25), nn.Linear(HIDDEN, data.n_classes))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device, memory_format=torch.channels_last)

    def batch(part, rows):
        images = data.X[part][rows].reshape(-1, height, width, channels).transpose(0, 3, 1, 2)
        return torch.as_tensor(images / 127.5 - 1.0, dtype=torch.float32, device=device)

    optimiser, rng = torch.optim.Adam(model.parameters(), RATE), np.random.default_rng(0)
    labels = torch.as_tensor(data.y["train"], device=device)
    for _ in range(epochs):
        model.train()
        order = rng.permutation(len(labels))
        for rows in np.array_split(order, max(1, len(order) // BATCH)):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(batch("train", rows)), labels[rows]).backward()
            optimiser.step()
    model.eval()
    said, hidden = {}, {}
    with torch.no_grad():
        for part in data.X:
            layers = [
                body(batch(part, rows))
                for rows in np.array_split(
                    np.arange(len(data.y[part])), max(1, len(data.y[part]) // 1024)
                )
            ]
            hidden[part] = torch.cat(layers).cpu().numpy()
            said[part] = torch.softmax(model[2](torch.cat(layers)), 1).double().cpu().numpy()
    return {part: said[part] for part in ("validation", "test")}, hidden
