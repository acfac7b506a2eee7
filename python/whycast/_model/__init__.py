"""Broadcasts in ONNX models: the list, its conditions, explicit nodes. It needs the extra `onnx`.

The verified programs decide about shapes; the walk over the graph is tested, not proved.
"""
