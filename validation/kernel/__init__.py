"""The Linux kernel's own TCP through one of our queues in real time, compared with the simulation of the same scenario.

Run with `python -m validation.kernel`. It needs root, or user namespaces, and /dev/net/tun; without them it says SKIPPED and exits with 0.
"""
