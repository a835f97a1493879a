-- All of an asset.
select a.id, k.title, s.title, r.title, o.title, t.title, m.title, c.title, st.title
from assets a
join asset_kinds k on k.id = a.kind
join asset_sites s on s.id = a.site
join asset_regions r on r.id = s.region
join asset_owners o on o.id = a.owner
join asset_teams t on t.id = o.team
join asset_makers m on m.id = a.maker
join asset_countries c on c.id = m.country
join asset_states st on st.id = a.state
where a.id = ${asset}
