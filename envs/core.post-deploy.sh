#!/bin/sh
# Run by Snakemake once an environment is there, in it and in the root of the checkout.
pip install --quiet --no-deps --editable .
