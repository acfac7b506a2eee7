"""Broadcasts in ONNX models: found, explained, made explicit. It needs the extra `onnx`.

The verified programs decide on shapes. What walks the graph is ordinary Python, tested and not
proved.
"""
