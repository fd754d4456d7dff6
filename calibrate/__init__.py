"""Calibration: streams of known shape through real hops, and what dripline said about each."""
