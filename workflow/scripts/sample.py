from gensight.doorway import logged

with logged(snakemake):
    from pathlib import Path

    from gensight.specs.data_folders import data_folder
    from gensight.stages.sample import sample

    determinants = snakemake.params.determinants
    # From the config and no param: a data set that moves makes nothing again.
    folder = data_folder(snakemake.config, Path.cwd(), determinants["dataset"])
    count = sample(snakemake.output[0], determinants, str(folder))
    print(f"{count} samples")
