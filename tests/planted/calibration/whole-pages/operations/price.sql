-- New prices for some articles.
update price_tags set cents = cents + 1
where id in (${tag}, (${tag} + 90000) % 900000 + 1, (${tag} + 180000) % 900000 + 1, (${tag} + 270000) % 900000 + 1,
  (${tag} + 360000) % 900000 + 1, (${tag} + 450000) % 900000 + 1, (${tag} + 540000) % 900000 + 1, (${tag} + 630000) % 900000 + 1)
