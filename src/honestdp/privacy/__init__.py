"""What does it cost? Numbers only: no torch, no data.

    events      what touches the data, as frozen values
    runs        how many runs a random search makes: the laws of K
    curve       Renyi curves and their conversions to (epsilon, delta)
    profile     privacy profiles delta(epsilon), by privacy loss distributions or curves
    guarantee   events -> curve, profile, (epsilon, delta)
    selection   one function per theorem on selecting among private runs
    calibrate   from a budget back to noise, candidates or the law of K
    guess       what (epsilon, delta) means to someone who bets
    attack      what a mechanism's own profile means to him: bets, trade-off, mu
    points      profiles that are stored, priced or known as a pair
    composed    mechanisms that are known by profiles alone, composed
    spending    what plans cost together, and how adaptive spending stays within a budget

Neighbours, everywhere: two tables of the same public size n that differ in one record,
present in one and replaced by a null record in the other (dp-accounting's
REPLACE_SPECIAL). Add/remove figures apply, and n may be published.
"""
