"""What `grow.py` is made of: passages of real text, the stock they come from, the plan, and the edits."""
