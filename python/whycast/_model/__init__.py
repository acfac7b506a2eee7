"""Broadcasts in ONNX models: found, explained, made explicit. It needs the extra `onnx`.

The verified programs decide on shapes; the walk over the graph is tested, not proved.
"""
