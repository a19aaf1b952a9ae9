from despur.orchestration import artifact_files, configuration, experiments

CONFIG = {"papers": ["new_paper"], "seeds": 1, "datasets": {"cmnist": "colored_digits"}}


def test_every_artifact_has_runs_and_a_caption():
    config = configuration.complete_configuration(CONFIG)
    for artifact in artifact_files.list_artifacts(config, "new_paper"):
        assert experiments.list_artifact_runs(config, "new_paper", artifact)
        assert (experiments.find_paper("new_paper") / "captions" / f"{artifact}.rst").exists()
