"""Engines that read tables as Arrow batches, one small module for each library.

``READS`` names the libraries whose tables a module reads. If ``CLUSTER`` is true, the engine sends
the kernel to the workers that hold the data (``fold``, ``apply``), and its rows have no order. The
other engines yield ``batches``, in order on request.
"""
