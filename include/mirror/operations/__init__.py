"""What people do with a whole flow: look before they run it, and on a bad day, or for one, turn it round."""
