"""What runs on Ray: `make test-ray` makes an environment with Ray and runs these. They wait where Ray is not there."""
