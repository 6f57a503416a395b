"""Engines that read tables: a few lines each, Arrow batches out.

``READS`` names the libraries whose tables a module takes. A ``CLUSTER`` has the kernels sent to
where its data are, which have no order (``fold``, ``apply``); from the others come ``batches``, in
order if asked.
"""
