"""Where functions and jobs run: processes of their own, fed with requests."""
