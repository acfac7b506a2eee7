"""Find the broadcasts in ONNX models, and make them explicit. Needs the extra `onnx`.

ONNX infers shapes, verified programs judge broadcasts; the walk over the graph is only tested.
"""
