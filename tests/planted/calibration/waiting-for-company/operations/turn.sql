-- Somebody passes.
update turnstiles set passed = passed + 1 where turnstile = ${turnstile}
