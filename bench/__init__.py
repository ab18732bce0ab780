"""MM2 and airmirror side by side: the same topic, the same machine, one after the other in one run."""
