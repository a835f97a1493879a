-- Five manufacturers, five categories of each, forty brands of each category: each as likely as any other.
with listed as (
  select
    [
      'almond', 'antique', 'aquamarine', 'azure', 'beige', 'bisque', 'black', 'blanched', 'blue', 'blush', 'brown',
      'burlywood', 'burnished', 'chartreuse', 'chiffon', 'chocolate', 'coral', 'cornflower', 'cornsilk', 'cream',
      'cyan', 'dark', 'deep', 'dim', 'dodger', 'drab', 'firebrick', 'floral', 'forest', 'frosted', 'gainsboro',
      'ghost', 'goldenrod', 'green', 'grey', 'honeydew', 'hot', 'indian', 'ivory', 'khaki', 'lace', 'lavender',
      'lawn', 'lemon', 'light', 'lime', 'linen', 'magenta', 'maroon', 'medium', 'metallic', 'midnight', 'mint',
      'misty', 'moccasin', 'navajo', 'navy', 'olive', 'orange', 'orchid', 'pale', 'papaya', 'peach', 'peru', 'pink',
      'plum', 'powder', 'puff', 'purple', 'red', 'rose', 'rosy', 'royal', 'saddle', 'salmon', 'sandy', 'seashell',
      'sienna', 'sky', 'slate', 'smoke', 'snow', 'spring', 'steel', 'tan', 'thistle', 'tomato', 'turquoise', 'violet',
      'wheat', 'white', 'yellow'
    ] as colors
),
numbered as (
  select
    n,
    cast(md5_number_lower('part ' || n) >> 1 as bigint) as drawn,
    cast(md5_number_upper('part ' || n) >> 1 as bigint) as looks
  from range(1, ${parts} + 1) as made (n)
),
classified as (
  select
    *,
    'MFGR#' || 1 + drawn % 5 as mfgr,
    mfgr || 1 + drawn // 5 % 5 as category
  from numbered
)
select
  cast(n as integer) as p_partkey,
  colors[looks % 92 + 1] || ' ' || colors[(looks + 1 + looks // 92 % 91) % 92 + 1] as p_name,
  mfgr as p_mfgr,
  category as p_category,
  category || 1 + drawn // (5 * 5) % 40 as p_brand1,
  colors[looks // (92 * 91) % 92 + 1] as p_color,
  ['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'][drawn // (5 * 5 * 40) % 6 + 1]
    || ' ' || ['ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'][drawn // (5 * 5 * 40 * 6) % 5 + 1]
    || ' ' || ['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'][drawn // (5 * 5 * 40 * 6 * 5) % 5 + 1] as p_type,
  cast(1 + looks // (92 * 91 * 92) % 50 as integer) as p_size,
  ['SM', 'LG', 'MED', 'JUMBO', 'WRAP'][looks // (92 * 91 * 92 * 50) % 5 + 1]
    || ' ' || ['CASE', 'BOX', 'BAG', 'JAR', 'PACK', 'PKG', 'CAN', 'DRUM'][looks // (92 * 91 * 92 * 50 * 5) % 8 + 1]
    as p_container
from classified, listed
