-- Each source is already cut at `$as_of`: only what was known strictly before it is here.
WITH
gaps AS (
    SELECT
        household_id,
        -- Whole seconds, so that means of them do not depend on the order of adding. Of two baskets in the same second
        -- it does not matter which comes first: the gap is 0.
        to_unixtime(bought_at) - to_unixtime(lag(bought_at) OVER (PARTITION BY household_id ORDER BY bought_at)) AS gap
    FROM baskets
),
regularity AS (
    SELECT household_id, avg(gap) / 86400.0 AS gap_days_mean, stddev_samp(gap) / 86400.0 AS gap_days_stddev
    FROM gaps
    GROUP BY household_id
),
totals AS (
    SELECT
        household_id,
        count(*) AS baskets,
        sum(sales_cents) AS sales_cents,
        min(bought_at) AS first_at,
        max(bought_at) AS last_at,
        sum(private_cents) FILTER (WHERE bought_at >= $as_of - interval '90 days') AS private_cents_90d,
        sum(sales_cents) FILTER (WHERE bought_at >= $as_of - interval '90 days') AS sales_cents_90d
    FROM baskets
    GROUP BY household_id
),
stores AS (
    SELECT
        household_id,
        store_id,
        count(*) AS baskets,
        -- The second sort key decides ties: without it, one night could choose another store than the next.
        row_number() OVER (PARTITION BY household_id ORDER BY count(*) DESC, store_id) AS place
    FROM baskets
    GROUP BY household_id, store_id
)
SELECT
    totals.household_id,
    (to_unixtime($as_of) - to_unixtime(totals.last_at)) / 86400.0 AS days_since_basket,
    regularity.gap_days_mean,
    regularity.gap_days_stddev,
    totals.sales_cents / greatest((to_unixtime($as_of) - to_unixtime(totals.first_at)) / 604800.0, 1.0)
        AS sales_cents_per_week,
    stores.store_id AS favourite_store,
    -- A whole number over a whole number drops the rest: one side is cast.
    cast(stores.baskets AS double) / totals.baskets AS favourite_share,
    cast(totals.private_cents_90d AS double) / nullif(totals.sales_cents_90d, 0) AS private_share_90d
FROM totals
JOIN regularity ON regularity.household_id = totals.household_id
JOIN stores ON stores.household_id = totals.household_id AND stores.place = 1
