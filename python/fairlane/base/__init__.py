"""What every room uses; it imports none of them."""
