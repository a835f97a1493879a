select node_id, http_uri, coordinator
from system.runtime.nodes
where state = 'active'
order by coordinator desc, node_id
