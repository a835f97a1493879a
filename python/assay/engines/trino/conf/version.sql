select node_version from system.runtime.nodes where coordinator limit 1
