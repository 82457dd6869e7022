"""A payment method for pretix: the customer pays in coins at Coffer."""
