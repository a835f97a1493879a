prepare assay_trial from {text}
