"""Everything that a flow needs before it runs: clusters, rights, names, settings; looked at, and nothing changed."""
