"""What every command of the terminal shares: options, progress, and a process that starts quickly."""
