// A table that is wider than the page is scrolled: as long as more of it follows at the right, it has the class "more".

function mark(wrap) {
  wrap.classList.toggle("more", wrap.scrollWidth > wrap.clientWidth + Math.ceil(wrap.scrollLeft) + 1);
}

const watched = new ResizeObserver((entries) => entries.forEach(({target}) => mark(target)));

// The theme wraps the tables after this script has run.
requestAnimationFrame(() => {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
    watched.observe(wrap);
    wrap.addEventListener("scroll", () => mark(wrap), {passive: true});
  }
});
