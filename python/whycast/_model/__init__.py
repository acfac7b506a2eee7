"""Broadcasts in ONNX models: the list, its conditions, explicit nodes. Needs the extra `onnx`.

ONNX infers shapes, verified programs judge broadcasts; the walk over the graph is only tested.
"""
