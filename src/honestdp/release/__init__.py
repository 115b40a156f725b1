"""What leaves a run: the model, its card, their files. (A card alone needs no torch.)"""
