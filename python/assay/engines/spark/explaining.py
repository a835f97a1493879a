class SparkPlans:
    def __init__(self, address): pass
