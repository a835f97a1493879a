create index scrap_metal_cheapest on scrap_metal (metal, price);
