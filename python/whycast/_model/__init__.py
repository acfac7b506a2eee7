"""Broadcasts in ONNX models: the list, its conditions, explicit nodes. Needs the extra `onnx`.

Verified programs decide about shapes; the walk over the graph is tested, not proved.
"""
