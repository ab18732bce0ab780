"""Consumer groups on the other side: where each goes on, told to MM2's tools, and written where nobody uses them."""
