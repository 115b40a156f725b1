"""What people look at: pictures of costs, and the report of a run.

picture            line charts as files
cost_plot          cost against the number of candidates
page               the report: one offline HTML file; templates/ has its parts
declared           what a card declares, read with care
facts              what the report says
figures            what it draws; candidate_figures where all candidates may be seen
"""
