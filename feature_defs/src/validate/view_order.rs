//! In which order views are checked: each behind the views that its SQL reads. Circles have no such order.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use crate::error::Problem;
use crate::name::Name;
use crate::parse::Embedded;
use crate::parse::objects::{DeclaredComputation, DeclaredView, Section};
use crate::sql::Fault;
use crate::sql::check::reads;

/// How many views may stand behind each other: a night and a training set hold that many queries open at once.
const DEEPEST: usize = 16;

/// The views that each view of SQL reads, sorted, with the place in its text where it names each first.
pub(super) type ReadViews = HashMap<Name, Vec<(Name, Option<Range<usize>>)>>;

/// What the declared views read of each other.
pub(super) fn read_views(views: &Section<DeclaredView>) -> ReadViews {
    let names: Vec<&str> = views.keys().map(Name::as_str).collect();
    let mut all = ReadViews::new();
    for (name, declared) in views {
        let Some(text) = sql_of(&declared.object) else {
            continue;
        };
        let read = reads(&text.text, &names).into_iter();
        let read = read.filter_map(|(read, range)| {
            let (read, _) = views.get_key_value(read.as_str())?;
            Some((read.clone(), range))
        });
        all.insert(name.clone(), read.collect());
    }
    all
}

/// The views, each behind those that it reads. Every circle is a problem, and so is a row of views that is too long.
pub(super) fn view_order(
    views: &Section<DeclaredView>,
    read: &ReadViews,
    found: &mut Vec<Problem>,
) -> Vec<Name> {
    let mut walk = Walk {
        views,
        read,
        done: HashSet::new(),
        order: Vec::new(),
        found,
    };
    for name in views.keys() {
        walk.from(name);
    }
    walk.refuse_long_rows();
    walk.order.into_iter().cloned().collect()
}

fn sql_of(view: &DeclaredView) -> Option<&Embedded> {
    match &view.computation {
        Some(DeclaredComputation::Sql { text, .. }) => text.as_ref(),
        _ => None,
    }
}

struct Walk<'a> {
    views: &'a Section<DeclaredView>,
    read: &'a ReadViews,
    done: HashSet<&'a Name>,
    order: Vec<&'a Name>,
    found: &'a mut Vec<Problem>,
}

impl<'a> Walk<'a> {
    /// Goes on from a view to what it reads, depth first and without calling itself.
    fn from(&mut self, start: &'a Name) {
        if self.done.contains(start) {
            return;
        }
        let mut path = vec![(start, 0)];
        while let Some((name, next)) = path.last_mut() {
            let (reader, place) = (*name, *next);
            *next += 1;
            let Some((name, range)) = self.reads(reader).get(place) else {
                self.done.insert(reader);
                self.order.push(reader);
                path.pop();
                continue;
            };
            if let Some(first) = path.iter().position(|(open, _)| *open == name) {
                let circle: Vec<&Name> = path[first..].iter().map(|(open, _)| *open).collect();
                self.refuse_circle(&circle, range.clone());
            } else if !self.done.contains(name) {
                path.push((name, 0));
            }
        }
    }

    fn reads(&self, view: &Name) -> &'a [(Name, Option<Range<usize>>)] {
        self.read.get(view).map_or(&[], Vec::as_slice)
    }

    /// `circle` starts with the view that its last one reads, at `range`.
    fn refuse_circle(&mut self, circle: &[&Name], range: Option<Range<usize>>) {
        let (first, last) = (circle[0], circle[circle.len() - 1]);
        let message = match circle {
            [alone] => format!("the view `{alone}` reads itself"),
            _ => {
                let mut names: Vec<String> =
                    circle.iter().map(|name| format!("`{name}`")).collect();
                names.push(format!("`{first}`"));
                format!("views read each other in a circle: {}", names.join(" -> "))
            }
        };
        let help = "a view is computed behind what it reads: read its sources here instead";
        self.refuse(last, Fault::new(message, range, help));
    }

    /// Refuses the first view of each row of views that is longer than a night holds open.
    fn refuse_long_rows(&mut self) {
        let mut lengths: BTreeMap<&Name, usize> = BTreeMap::new();
        for reader in self.order.clone() {
            let read = self.reads(reader).iter();
            let longest = read.max_by_key(|(name, _)| lengths.get(name).copied().unwrap_or(0));
            let length = longest.map_or(0, |(name, _)| lengths.get(name).copied().unwrap_or(0)) + 1;
            if length == DEEPEST + 1 {
                let range = longest.and_then(|(_, range)| range.clone());
                let message = format!("more than {DEEPEST} views read one another in a row");
                let help = "read sources, or a view that is nearer to them";
                self.refuse(reader, Fault::new(message, range, help));
            }
            lengths.insert(reader, length);
        }
    }

    fn refuse(&mut self, view: &Name, fault: Fault) {
        if let Some(text) = sql_of(&self.views[view].object) {
            self.found.push(text.problem(fault));
        }
    }
}
