"""Plots of costs, and the report of a run.

picture            plots as files
cost_plot          cost against the number of candidates
page               the report: one offline HTML file; templates/ has its parts
inputs             the card's public facts and test results, validated
view_model         the texts and numbers of the report
figures            its figures; candidate_figures if all candidates are released
score_spread       how far a released score may be off
evaluation_view    how good the model is: texts and figures; evaluation_figures draws them
"""
