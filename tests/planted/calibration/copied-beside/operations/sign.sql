-- One signature.
update protocols set signatures = signatures + 1 where protocol = ${protocol}
