"""The extension of fairlane with real transport stacks in it. `import fairlane` takes it in the place of its own; nothing else is here."""
