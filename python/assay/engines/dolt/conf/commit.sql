call dolt_commit('--ALL', '--skip-empty', '-m', 'loaded')
