"""Where consumer groups end up: MM2 and airmirror translate the same groups on the same hostile data."""
