# The room of Correct-N-Contrast: its tables and figures.


rule cnc_table_1:
    input:
        metrics=run_files("cnc", "table_1", "metrics.csv"),
        reported="workflow/papers/cnc/reported/table_1.csv",
    output:
        csv=f"{OUT}/papers/cnc/table_1.csv",
        md=f"{OUT}/papers/cnc/table_1.md",
        tex=f"{OUT}/papers/cnc/table_1.tex",
        html=report(
            f"{OUT}/papers/cnc/table_1.html",
            caption="captions/table_1.rst",
            category="Correct-N-Contrast",
            labels={"artifact": "Table 1"},
        ),
    log:
        f"{OUT}/logs/papers/cnc/table_1.log",
    localrule: True
    conda:
        "../../../envs/despur.yaml"
    params:
        cells=cells_of("cnc", "table_1", "tables.py"),
    shell:
        "python workflow/papers/cnc/tables.py table_1 --cells {params.cells:q} --output {output.csv} > {log} 2>&1"


rule cnc_figure_5:
    input:
        metrics=run_files("cnc", "figure_5", "metrics.csv"),
    output:
        csv=f"{OUT}/papers/cnc/figure_5.csv",
        pdf=f"{OUT}/papers/cnc/figure_5.pdf",
        png=report(
            f"{OUT}/papers/cnc/figure_5.png",
            caption="captions/figure_5.rst",
            category="Correct-N-Contrast",
            labels={"artifact": "Figure 5"},
        ),
    log:
        f"{OUT}/logs/papers/cnc/figure_5.log",
    localrule: True
    conda:
        "../../../envs/despur.yaml"
    params:
        cells=cells_of("cnc", "figure_5", "figures.py"),
    shell:
        "python workflow/papers/cnc/figures.py figure_5 --cells {params.cells:q} --output {output.png} > {log} 2>&1"


rule cnc_figure_11:
    input:
        outputs=run_files("cnc", "figure_11", "outputs.safetensors"),
        data=datasets_of("cnc", "figure_11"),
    output:
        pdf=f"{OUT}/papers/cnc/figure_11.pdf",
        png=report(
            f"{OUT}/papers/cnc/figure_11.png",
            caption="captions/figure_11.rst",
            category="Correct-N-Contrast",
            labels={"artifact": "Figure 11"},
        ),
    log:
        f"{OUT}/logs/papers/cnc/figure_11.log",
    localrule: True
    conda:
        "../../../envs/despur.yaml"
    params:
        cells=cells_of("cnc", "figure_11", "figures.py"),
    shell:
        "python workflow/papers/cnc/figures.py figure_11 --cells {params.cells:q} --output {output.png} > {log} 2>&1"


CNC = made(
    "cnc",
    {
        "table_1": rules.cnc_table_1.output,
        "figure_5": rules.cnc_figure_5.output,
        "figure_11": rules.cnc_figure_11.output,
    },
)
ARTIFACTS += CNC


rule cnc:
    input:
        CNC,
