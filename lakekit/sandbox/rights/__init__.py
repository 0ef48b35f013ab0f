"""IAM on one machine: each function, job and machine may do what its role allows, and no more."""
