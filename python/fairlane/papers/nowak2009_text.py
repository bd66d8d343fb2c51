"""What we find."""


def findings(r, others):
    return []


def causes(r, others):
    return {}
