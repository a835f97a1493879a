"""What a workload's costs do as its data grow: power laws, shares that shift, larger scales."""
