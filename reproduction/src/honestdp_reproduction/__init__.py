"""The paper's tables and figures: one file each, every figure beside the printed one."""
