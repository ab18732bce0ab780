"""What people do with a whole flow on a bad day, or rehearse for one: failover, failback, drill."""
