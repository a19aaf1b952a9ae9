from despur.orchestration import artifact_files, configuration, experiments, paper_folders

CONFIG = {"papers": ["new_paper"], "seeds": 1, "datasets": {"cmnist": "colored_digits"}}  # each data set of the paper


def test_every_artifact_has_runs_and_a_caption():
    artifacts = list(experiments.load_experiments("new_paper")["artifacts"])
    assert artifact_files.list_artifacts(configuration.complete_configuration(CONFIG), "new_paper") == artifacts
    captions = (paper_folders.find_paper("new_paper") / "captions").glob("*.rst")
    assert sorted(caption.stem for caption in captions) == sorted(artifacts)
