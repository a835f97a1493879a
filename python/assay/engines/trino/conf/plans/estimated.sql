explain (type distributed, format json) {statement}
