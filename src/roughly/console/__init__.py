"""What all commands share: options, progress, what is printed, and a process that starts quickly."""
