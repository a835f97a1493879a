"""What verbs share: defaults, how a declared study is carried out, and a watcher that logs."""
