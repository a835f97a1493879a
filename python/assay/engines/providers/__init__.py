"""Where engines are obtained from: one file a provider, which `engine.toml` names."""
