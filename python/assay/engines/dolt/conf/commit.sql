call dolt_commit('--all', '--allow-empty', '--skip-empty', '-m', 'loaded')
